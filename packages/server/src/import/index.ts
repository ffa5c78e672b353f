export { importDatabase, type ImportOptions, verifyImport } from './import.ts';
export { importRoutes } from './routes.ts';
export { ImportRefused } from './refused.ts';
export { openReportFile, reportText, textTable } from './report.ts';
export { openSource, type SourceAddress } from './source.ts';
