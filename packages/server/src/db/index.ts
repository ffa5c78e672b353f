export { brokenConstraint, type Database, openDatabase, type OpenDatabase, zulu } from './database.ts';
export { type Connection, openEmbeddedDatabase } from './embedded.ts';
export { contains, startsWith } from './like.ts';
export { migrate, missingMigrations } from './migrate.ts';
export type * from './schema.ts';
export { keptSecret } from './secrets.ts';
