/** The versions of Python that tasks may run with. */
export const PYTHONS = ['3.9', '3.10', '3.11', '3.12', '3.13', '3.14', '3.15'] as const;

export const isSupportedPython = (version: string) => (PYTHONS as readonly string[]).includes(version);
