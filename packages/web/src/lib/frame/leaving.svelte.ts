/** Somebody wants to sign out. The frame asks first, when edits that nobody saved would be dropped. */
let isAsked = $state(false);

export const leaving = {
  get isAsked(): boolean {
    return isAsked;
  },
  set isAsked(asked: boolean) {
    isAsked = asked;
  },
};
