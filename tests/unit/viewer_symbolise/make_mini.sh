#!/bin/sh
# make_mini.sh OBJCOPY FULL OUT: stripped, with its symbols xz-compressed in .gnu_debugdata, as Fedora ships.
set -e
objcopy=$1 full=$2 out=$3
"$objcopy" --strip-debug "$full" "$out.symbols"
xz --force --keep --check=crc32 --stdout "$out.symbols" > "$out.symbols.xz"
"$objcopy" --strip-all --add-section .gnu_debugdata="$out.symbols.xz" "$full" "$out"
rm -f "$out.symbols" "$out.symbols.xz"
