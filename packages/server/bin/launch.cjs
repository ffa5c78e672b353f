// Starts the service with a Node that can run it: TypeScript in a checkout, JavaScript in a release. Written in old JavaScript,
// so that any Node gets this far.
'use strict';
var spawn = require('child_process').spawn;
var fs = require('fs');
var path = require('path');
var url = require('url');

/** The Node that `npm ci` brought along, if it did. */
function broughtAlong() {
  try {
    return require.resolve('node-' + process.platform + '-' + process.arch + '/bin/node');
  } catch (error) {
    return undefined;
  }
}

/**
 * The service takes little memory when it has little to do. Young objects have 16 MB, where Node would give them 64 and keep
 * them; and there are fewer pools of memory, each of which keeps what it once had. Tasks do not inherit this variable.
 */
var FRUGAL = '--max-semi-space-size=8';
var POOLS = { GLIBC_TUNABLES: 'glibc.malloc.arena_max=2' };

function isFrugal() {
  var flags = process.execArgv.concat(process.env.NODE_OPTIONS || '');
  return /--max-semi-space-size/.test(flags.join(' '));
}

/** Becomes a process with these flags: the same one for everybody else, with its number and its streams. */
function becomeFrugal(script) {
  if (isFrugal() || !process.execve) return;
  var words = [process.execPath, FRUGAL].concat(process.execArgv, script, process.argv.slice(2));
  process.execve(process.execPath, words, Object.assign({}, POOLS, process.env));
}

/** Runs the same command again with another Node, as if it were this process. */
function runAgainWith(node, script) {
  var env = Object.assign({}, POOLS, process.env);
  var child = spawn(node, [FRUGAL, script].concat(process.argv.slice(2)), { stdio: 'inherit', env: env });
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal);
    });
  });
  child.on('exit', function (code, signal) {
    process.exit(code === null ? 128 + (require('os').constants.signals[signal] || 0) : code);
  });
}

/** The file of a module, and whether this Node can run it. */
function moduleAt(name) {
  var compiled = path.join(__dirname, '..', name + '.js');
  if (!fs.existsSync(compiled))
    return { file: path.join(__dirname, '..', name + '.ts'), canRun: Boolean(process.features.typescript) };
  var version = process.versions.node.split('.').map(Number);
  return { file: compiled, canRun: version[0] > 22 || (version[0] === 22 && version[1] >= 18) };
}

/**
 * Where what was compiled is kept for the next start: a folder that nobody else can write to. In the one that Node takes by
 * itself, whoever makes it first could leave code for this process.
 */
function compileCache() {
  if (process.env.NODE_COMPILE_CACHE || !process.getuid) return process.env.NODE_COMPILE_CACHE;
  var folder = path.join(require('os').tmpdir(), 'service-compiled-' + process.getuid());
  try {
    if (!fs.existsSync(folder)) fs.mkdirSync(folder, { mode: parseInt('700', 8) });
    var found = fs.lstatSync(folder);
    var isOpen = (found.mode & parseInt('022', 8)) !== 0;
    return found.isDirectory() && found.uid === process.getuid() && !isOpen ? folder : undefined;
  } catch (error) {
    return undefined; // it is only slower
  }
}

module.exports = function launch(script, entry, isService) {
  var found = moduleAt(entry);
  if (found.canRun) {
    if (isService) becomeFrugal(script);
    var nodeModule = require('module');
    var cache = compileCache();
    if (cache && nodeModule.enableCompileCache) nodeModule.enableCompileCache(cache);
    import(url.pathToFileURL(found.file).href).catch(function (error) {
      console.error(error);
      process.exit(1);
    });
    return;
  }
  var node = broughtAlong();
  if (node && node !== process.execPath) return runAgainWith(node, script);
  console.error(
    'This needs Node 22.18 or newer' +
      (/\.ts$/.test(found.file) ? ', without --no-strip-types in NODE_OPTIONS' : '') +
      ', and this is Node ' +
      process.versions.node +
      '. Install a newer Node.',
  );
  process.exit(1);
};
