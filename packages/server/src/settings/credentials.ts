/** Addresses may hold credentials, which are for nobody's eyes: `https://me:secret@host` → `https://***@host`. */
export const withoutCredentials = (text: string): string => text.replace(/:\/\/[^/\s]+@/g, '://***@');
