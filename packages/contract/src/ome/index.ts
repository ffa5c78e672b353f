/** OME-Zarr for whoever draws, the service and the web client: its metadata, chunks, contrast, and channels laid over each other. No I/O. */
export * from './chunks.ts';
export * from './compose.ts';
export * from './contrast.ts';
export * from './image.ts';
export * from './plate.ts';
