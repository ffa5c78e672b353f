/** `npm run bench -- NAME`: measures what we promise about speed, as ratios within one run. */
const benches: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  accounts: () => import('./accounts.ts'),
  images: () => import('./images.ts'),
  reads: () => import('./reads.ts'),
  touch: () => import('./touch.ts'),
  pictures: () => import('./pictures.ts'),
  tables: () => import('./tables.ts'),
  collect: () => import('./collect.ts'),
  run: () => import('./jobs.ts'),
  warm: () => import('./warm.ts'),
  plate: () => import('./plate.ts'),
  slurm: () => import('./slurm.ts'),
  scale: () => import('./scale.ts'),
  doors: () => import('./doors.ts'),
  'import-db': () => import('./import-db.ts'),
};

const name = process.argv[2] ?? '';
const bench = benches[name];
if (!bench) {
  console.error(`Say which one: ${Object.keys(benches).join(', ')}. For example: npm run bench -- accounts`);
  process.exit(2);
}
await (await bench()).run();
