// Only for the flags that pkg-config gives: CPicture is what talks to libvips.
