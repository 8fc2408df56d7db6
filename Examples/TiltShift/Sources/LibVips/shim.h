// This module only provides the flags of pkg-config. CPicture calls libvips.
