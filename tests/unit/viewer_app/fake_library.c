/* Something that can be preloaded and does nothing. */
int hitch_fake_library = 1;
