export { copyInto } from './copy-in.ts';
export { brokenConstraint, type Database, openDatabase, type OpenDatabase, zulu } from './database.ts';
export { type Connection, openEmbeddedDatabase } from './embedded.ts';
export { contains, pageOf, rowsOf, startsWith } from './lists.ts';
export { isForeign, migrate, missingMigrations } from './migrate.ts';
export type * from './schema.ts';
export { isProcessAlive } from './processes.ts';
export { isSecretKept, keptSecret } from './secrets.ts';
export { isPassing, retryWhileAway } from './away.ts';
