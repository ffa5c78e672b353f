/** The dashboard and the alert rules of the manual: well-formed, and with LONG read by Prometheus, which has something to show for each. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

import { freePort } from '../packages/server/src/db/free-port.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { exchanged } from './support/manual-commands.ts';
import { blockOf, DOCS } from './support/manual-texts.ts';
import { kept, newFolder, READY } from './support/mounted.ts';
import { startCommand, startService } from './support/processes.ts';

const ALERTS = join(DOCS, 'public/monitoring/alerts.yaml');
const DASHBOARD = join(DOCS, 'public/monitoring/grafana-dashboard.json');

interface Panel {
  id: number;
  title: string;
  type: string;
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
  datasource: { uid: string };
  targets: { refId: string; expr: string; datasource: { uid: string } }[];
}
interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; description: string };
}

const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { __inputs: { name: string }[]; panels: Panel[] };
const rules = (parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (one) => one.rules,
);
const expressions = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const));

describe('the dashboard', () => {
  const cells = ({ gridPos: { x, y, w, h } }: Panel) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)}:${y + Math.floor(index / w)}`);

  it('has panels beside each other on 24 columns, each with a number of its own', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const all = panels.flatMap(cells);
    expect(new Set(all).size).toBe(all.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it('asks the Prometheus that is chosen when it is imported', () => {
    const [input] = dashboard.__inputs;
    const sources = dashboard.panels.flatMap(({ datasource, targets }) => [
      datasource.uid,
      ...targets.map((target) => target.datasource.uid),
    ]);
    expect(new Set(sources)).toEqual(new Set([`\${${input!.name}}`]));
  });

  it('and the alerts look at the scrape job of the manual', () => {
    const config = parse(blockOf('docs/operate/monitoring.md', 'scrape_configs').text) as {
      scrape_configs: { job_name: string }[];
    };
    const [{ job_name }] = config.scrape_configs as [{ job_name: string }];
    for (const [, expr] of [...expressions, ...rules.map(({ alert, expr }) => [alert, expr] as const)])
      for (const [selector] of expr.matchAll(/[a-z_]+\{[^}]*\}/g)) expect(selector).toContain(`{job="${job_name}"`);
  });
});

/** What makes each alert fire, as Prometheus writes series; and after how long. */
const FIRING: Record<string, { series: Record<string, string>; after: string }> = {
  ServiceDown: { series: { up: '0x20' }, after: '3m' },
  ServiceFailsRequests: {
    series: {
      'http_request_duration_seconds_count{status="200"}': '0+100x40',
      'http_request_duration_seconds_count{status="500"}': '0+2x40',
    },
    after: '20m',
  },
  ServiceSlow: {
    series: {
      'http_request_duration_seconds_bucket{le="2.5"}': '0+90x40',
      'http_request_duration_seconds_bucket{le="5"}': '0+100x40',
      'http_request_duration_seconds_bucket{le="+Inf"}': '0+100x40',
    },
    after: '20m',
  },
  ServiceThreadBusy: { series: { nodejs_eventloop_lag_p99_seconds: '0.7x40' }, after: '15m' },
  ServiceMemory: { series: { process_resident_memory_bytes: '1600000000x40' }, after: '20m' },
  ServiceFiles: { series: { process_open_fds: '900x40', process_max_fds: '1000x40' }, after: '10m' },
  ServiceRestarted: { series: { process_start_time_seconds: '0x40' }, after: '2m' },
};

/** On a good day: no alert has anything to say. */
const QUIET = {
  up: '1x40',
  'http_request_duration_seconds_count{status="200"}': '0+100x40',
  'http_request_duration_seconds_bucket{le="2.5"}': '0+100x40',
  'http_request_duration_seconds_bucket{le="+Inf"}': '0+100x40',
  nodejs_eventloop_lag_p99_seconds: '0.01x40',
  process_resident_memory_bytes: '150000000x40',
  process_open_fds: '50x40',
  process_max_fds: '1000x40',
  process_start_time_seconds: '0x40',
};

const withLabels = (series: Record<string, string>) =>
  Object.entries(series).map(([name, values]) => ({
    series: name.includes('{') ? name.replace('{', '{job="service",') : `${name}{job="service"}`,
    values,
  }));

describe.runIf(LONG)('Prometheus', () => {
  it('understands the alert rules and every expression of the dashboard', () => {
    const asRules = expressions.map(([, expr], index) => ({ record: `panel:${index}`, expr }));
    const file = join(newFolder('manual-rules'), 'dashboard.yaml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
    const said = execFileSync('promtool', ['check', 'rules', ALERTS, file], { encoding: 'utf8' });
    expect(said).toContain(`SUCCESS: ${rules.length} rules found`);
    expect(said).toContain(`SUCCESS: ${expressions.length} rules found`);
  });

  it('fires each alert for what it is about, and none on a good day', () => {
    expect(Object.keys(FIRING)).toEqual(rules.map(({ alert }) => alert));
    const fires = Object.entries(FIRING).map(([alertname, { series, after }]) => ({
      interval: '1m',
      input_series: withLabels(series),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"})`,
          eval_time: after,
          exp_samples: [{ labels: '{}', value: 1 }],
        },
      ],
    }));
    const quiet = {
      interval: '1m',
      input_series: withLabels(QUIET),
      promql_expr_test: [{ expr: 'ALERTS', eval_time: '30m', exp_samples: [] }],
    };
    const file = join(newFolder('manual-alerts'), 'tests.yaml');
    const tests = { rule_files: [ALERTS], evaluation_interval: '1m', tests: [...fires, quiet] };
    writeFileSync(file, JSON.stringify(tests));
    expect(execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  it('scrapes the service as the manual says, and has something to show in every panel', async () => {
    const folder = newFolder('manual-prometheus');
    const service = kept(startService(['--port', '0', '--data-dir', join(folder, 'data')]));
    const [, url] = await service.said(READY);
    const config = join(folder, 'prometheus.yaml');
    const scrape = exchanged(blockOf('docs/operate/monitoring.md', 'scrape_configs'), {
      '127.0.0.1:8000': new URL(url!).host,
    });
    writeFileSync(
      config,
      `global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: ['${ALERTS}']\n${scrape}`,
    );
    const checked = execFileSync('promtool', ['check', 'config', config], { encoding: 'utf8' });
    expect(checked).toContain('is valid prometheus config file syntax');

    const port = await freePort();
    const options = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`];
    const prometheus = startCommand('prometheus', [...options, `--web.listen-address=127.0.0.1:${port}`]);
    onTestFinished(async () => {
      prometheus.process.kill('SIGTERM');
      await prometheus.ended;
    });
    await prometheus.said(/Server is ready to receive web requests/);
    const ask = async (path: string) =>
      (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as { data: never };
    const answer = async (expr: string) => {
      const { result } = (await ask(`query?query=${encodeURIComponent(expr)}`)).data as { result: unknown[] };
      return result.length;
    };
    for (const [title, expr] of expressions) {
      // requests for it to count
      await fetch(`${url}/api/alive/`);
      await expect.poll(() => answer(expr), { timeout: 60_000, message: `${title}: ${expr}` }).toBeGreaterThan(0);
    }
    const loaded = async () => {
      const { groups } = (await ask('rules')).data as { groups: { rules: { name: string; health: string }[] }[] };
      return groups.flatMap((group) => group.rules.map(({ name, health }) => `${name} ${health}`));
    };
    await expect.poll(loaded, { timeout: 60_000 }).toEqual(rules.map(({ alert }) => `${alert} ok`));
  }, 600_000);
});
