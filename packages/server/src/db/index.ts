export { brokenConstraint, type Database, openDatabase, type OpenDatabase, zulu } from './database.ts';
export { type Connection, openEmbeddedDatabase } from './embedded.ts';
export { contains, startsWith } from './like.ts';
export { isForeign, migrate, missingMigrations } from './migrate.ts';
export { pageOf, rowsOf } from './pages.ts';
export type * from './schema.ts';
export { isProcessAlive } from './processes.ts';
export { keptSecret } from './secrets.ts';
export { isPassing, patiently } from './patience.ts';
