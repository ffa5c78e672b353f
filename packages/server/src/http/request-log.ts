/** What is written and counted about requests: the access log, slow requests, and numbers for Prometheus. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

import type { Logging } from '../logging/index.ts';

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const NUMBERS_KEPT_MS = 1000;
/** Who watches the service wants the other numbers above all when one of them does not come. */
const LONGEST_ASKED_MS = 2000;

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds a number to those for Prometheus; it is asked for when they are. One that cannot be had is not a number. */
    measure(name: string, help: string, ask: () => Promise<number>): void;
  }
  interface FastifyRequest {
    /** Answered by the web client, with a page or a file. */
    page: boolean;
  }
}

const PAGES = '(web client)';

/** The route as the contract writes it, so that ids do not make a line, or a counter, of their own. */
const routeOf = (request: FastifyRequest) =>
  request.page ? PAGES : (request.routeOptions.config.operation?.path ?? request.routeOptions.url ?? '(no route)');

const NAME = /^[\w.-]{1,64}$/;

/** Query strings can hold addresses and names: only numbers and flags are shown. */
function shownQuery(request: FastifyRequest): string {
  const search = request.query instanceof URLSearchParams ? [...request.query] : [];
  const shown = search.map(
    ([name, value]) => `${NAME.test(name) ? name : '…'}=${/^(-?\d+|true|false)$/i.test(value) ? value : '…'}`,
  );
  return shown.length === 0 ? '' : `?${shown.join('&')}`;
}

/** `2026-01-31T12:00:00.123`, local time. */
function localTime(moment: Date): string {
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, -1);
}

export function logRequests(app: FastifyInstance, options: { logging: Logging; longRequestSeconds: number }): void {
  const access = options.logging.logger('access');
  const slow = options.logging.logger('slow-response');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'How long requests took, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });

  app.decorate('measure', (name, help, ask) => {
    // one question at a time, however often the numbers are read
    let asked: Promise<number> | undefined;
    const answer = () =>
      (asked ??= ask()
        .catch(() => NaN)
        .finally(() => (asked = undefined)));
    const collect = async function (this: Gauge) {
      this.set(await Promise.race([answer(), sleep(LONGEST_ASKED_MS, NaN, { ref: false })]));
    };
    registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
  });
  app.decorateRequest('page', false);
  app.addHook('onResponse', (request, reply, done) => {
    const seconds = reply.elapsedTime / 1000;
    const { method } = request;
    const status = reply.statusCode;
    // a stream is meant to last
    const streams = request.routeOptions.config.operation?.answer.mediaType === 'text/event-stream';
    if (!streams) durations.observe({ method, route: routeOf(request), status }, seconds);
    if (access.enabled('debug'))
      access.debug(`${request.ip} ${method} ${routeOf(request)}${shownQuery(request)} ${status}`);
    if (seconds > options.longRequestSeconds && !streams) {
      const end = new Date();
      const start = new Date(end.getTime() - reply.elapsedTime);
      const what = `${method} ${routeOf(request)}${shownQuery(request)}, ${status}, ${seconds.toFixed(2)}`;
      slow.warning(`${what}, ${localTime(start)}, ${localTime(end)}`);
    }
    done();
  });

  // anybody may ask, and writing them takes a while
  let written: { at: number; text: Promise<string> } | undefined;
  app.get('/metrics', async (_, reply) => {
    if (written === undefined || Date.now() - written.at > NUMBERS_KEPT_MS) {
      written = { at: Date.now(), text: registry.metrics() };
    }
    reply.header('content-type', registry.contentType);
    return written.text;
  });
}
