/** `npm run bench -- NAME`: measures what we promise about speed, as ratios within one run. */
const benches: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  accounts: () => import('./accounts.ts'),
  images: () => import('./images.ts'),
  collect: () => import('./collect.ts'),
  run: () => import('./jobs.ts'),
  warm: () => import('./warm.ts'),
  slurm: () => import('./slurm.ts'),
  doors: () => import('./doors.ts'),
};

const name = process.argv[2] ?? '';
const bench = benches[name];
if (!bench) {
  console.error(`Say which one: ${Object.keys(benches).join(', ')}. For example: npm run bench -- accounts`);
  process.exit(2);
}
await (await bench()).run();
