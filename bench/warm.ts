export const run = (): Promise<void> => Promise.resolve();
