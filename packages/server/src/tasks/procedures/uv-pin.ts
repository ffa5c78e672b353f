/**
 * The uv that the service brings: this version, in one of these files, and no other. What pip would fetch otherwise is
 * whatever the index holds on that day, and it is run by the account of the service.
 *
 * To move on: take version and hashes from https://pypi.org/simple/uv/ (the Linux wheels), then
 * `npx vitest run --project whole tests/package-index.test.ts`.
 */
export const UV_VERSION = '0.13.7';

const SHA256 = {
  armv6l: '89df450624dec8c48b8b5a7adb654928cc50e95753f869c70cd65ef8333f2197',
  aarch64: 'a90f5d95716ab83091f0f73a8e7ec64e557abf2a28537fcd719b2ac88e6f725a',
  'aarch64, glibc 2.28': '08f16fd463926786b702b497473511deae4b3e17a2fa6d22180950d6059a120d',
  armv7l: '94f65a8ac5826dff76a93cb3cafbaad15def1788c63da2ce5ce09e0bd1303e7a',
  'armv7l, also musl': '952dcae9b1a7742f2fab28e82391fbfabe8807e4e9363f674b0f6be1053b8dd4',
  i686: '57ff66891d9a738ec087c23fdde842ac8e5eb63189ffed6ee95caee1b82ceb54',
  'i686, musl': '8fc6019740794df995085f7b278d99dc11ccacffad9c63957278d3a6e272280b',
  ppc64le: '917733990ebc178318af0321d6873823ed5da707e1c4b1e5060ac2065a81f1f3',
  riscv64: '158953b8669bee6f4bc2babdd997e34ff9f0d57170093cfe907f64448292b7c3',
  'riscv64, also musl': 'd30cafb7070901ba35353ec64cf228ae46caf79ac0f6fae329f95468b1482531',
  s390x: '1bc8543d930464bbb22ac01bb1a660a448235e558014914de1e1cd5b993361b8',
  x86_64: '2c9bdc4a872b60a93c5f26c0791089ea11585a4f9d3b3c017d78eb8487505e25',
  'x86_64, musl': '8b8ac028ae4ebb2a3f9d04907c61794f2cf8d7a7002bfbb4019a3dee28351fb2',
};

/** A requirements file for pip, which refuses every other file. */
export const UV_REQUIREMENT = `uv==${UV_VERSION} ${Object.values(SHA256)
  .map((hash) => `--hash=sha256:${hash}`)
  .join(' ')}\n`;
