"""Tasks that make and measure a small OME-Zarr plate, with the standard library alone."""
