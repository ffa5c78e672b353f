/** Who wants to know that a call got no proper answer. The frame asks then whether the service is there at all. */
let listener: (() => void) | undefined;

export function onNoAnswer(heard: () => void): void {
  listener = heard;
}

export const noAnswer = (): void => listener?.();
