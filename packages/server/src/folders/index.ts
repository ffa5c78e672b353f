export { type Folders, readableFolders, type ReadableFolder } from './folders.ts';
export { type NotOpened, type Opened, openInside } from './open-inside.ts';
