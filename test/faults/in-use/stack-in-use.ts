import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalStackOptions } from '../../../infra/local/stack/local-stack-options.ts';
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../../infra/local/running/running-stack.ts';
import type { CellAddress } from '../../../shared/cell.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { DATASTORE } from '../../support/store-access.ts';

export interface StackInUse extends AsyncDisposable {
  readonly stack: LocalStack;
  readonly requests: FirstRequests;
  /** Returns the results of the first requests after a fault. @param circuitsBefore see `FirstRequests` */
  ask(what: string, circuitsBefore?: number): Promise<FirstAnswers>;
}

const SHARDS = 24;
/** Instances that ended in the meantime would remember nothing wrong. */
const FUNCTION_IDLE_SECONDS = 3600;

export async function startInUse(
  { folder, engine, say }: RunWorld,
  name: string,
  options: Partial<LocalStackOptions>,
): Promise<StackInUse> {
  await using parts = new AsyncDisposableStack();
  const size = { shards: SHARDS, serverSize: 'full', functionIdleSeconds: FUNCTION_IDLE_SECONDS } as const;
  const stack = await startLocalStack({ data: join(folder, name), port: 0, engine, ...size, ...options });
  parts.defer(() => stack.stop());
  const requests = new FirstRequests(stack.url, stack.functionLog);
  await requests.warmUp();
  const kept = parts.move();
  return {
    stack,
    requests,
    async ask(what, circuitsBefore) {
      const answers = await requests.send(circuitsBefore);
      say(`${name}${what}: ${firstLine(answers)}`);
      return answers;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const FIRST_REQUESTS = 200;
const AT_ONCE = 16;
/** A machine that has just started a stack may be busy. */
const WARM_UP_TRIES = 20;

export interface FirstAnswers {
  readonly writes: number;
  readonly stored: number;
  readonly reads: number;
  readonly fresh: number;
  /** The counts of other results: "buffered", "stale". */
  readonly others: Readonly<Record<string, number>>;
  readonly circuits: number;
  readonly slowestMs: number;
}

/** Writes, and reads of cells written before, in parallel over HTTP, without retries. */
class FirstRequests {
  readonly #url: string;
  readonly #functionLog: string;
  readonly #written: CellAddress[] = [];

  constructor(url: string, functionLog: string) {
    this.#url = `${url}/v1/${DATASTORE}/cells`;
    this.#functionLog = functionLog;
  }

  /** Opens connections, and stores cells to read later. Throws if a cell is not stored after all tries. */
  async warmUp(): Promise<void> {
    await atOnce(async () => {
      for (let turn = 0; turn < FIRST_REQUESTS / AT_ONCE; turn += 1) {
        const address = newAddress();
        let outcome = '';
        for (let tries = 0; tries < WARM_UP_TRIES && !outcome.startsWith('stored'); tries += 1)
          outcome = await this.#put(address);
        if (!outcome.startsWith('stored')) throw new Error(`wanted writes in peace to be stored, got ${outcome}`);
        this.#written.push(address);
        await this.#get(address);
      }
    });
  }

  /** @param circuitsBefore those that are not counted @default all that have opened so far */
  async send(circuitsBefore = this.circuitsOpened()): Promise<FirstAnswers> {
    const others: Record<string, number> = {};
    const counts = { stored: 0, fresh: 0 };
    let slowestMs = 0;
    const ask = async (wanted: keyof typeof counts, request: () => Promise<string>): Promise<void> => {
      const begun = performance.now();
      const outcome = await request().catch(() => 'without an answer');
      slowestMs = Math.max(slowestMs, performance.now() - begun);
      if (outcome === wanted) counts[wanted] += 1;
      else others[outcome] = (others[outcome] ?? 0) + 1;
    };
    let next = 0;
    await atOnce(async () => {
      while (next < FIRST_REQUESTS) {
        const earlier = this.#written[next % this.#written.length] as CellAddress;
        next += 1;
        await Promise.all([ask('stored', () => this.#put(newAddress())), ask('fresh', () => this.#get(earlier))]);
      }
    });
    const circuits = this.circuitsOpened() - circuitsBefore;
    return { writes: FIRST_REQUESTS, reads: FIRST_REQUESTS, ...counts, others, circuits, slowestMs };
  }

  circuitsOpened(): number {
    if (!existsSync(this.#functionLog)) return 0;
    return readFileSync(this.#functionLog, 'utf8').split('"circuit_opened"').length - 1;
  }

  async #put(address: CellAddress): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.#of(address), { method: 'PUT', headers, body: '{"first":true}' });
    const { outcome, code } = (await response.json()) as { outcome?: string; code?: string };
    return outcome ?? code ?? String(response.status);
  }

  async #get(address: CellAddress): Promise<string> {
    const response = await fetch(this.#of(address));
    type Answer = { readonly stale?: boolean; readonly served_by?: string; readonly code?: string };
    const { stale, served_by, code } = (await response.json()) as Answer;
    if (response.status !== 200) return `read: ${code ?? response.status}`;
    return stale === false && served_by === 'writer' ? 'fresh' : 'stale';
  }

  #of({ row_key, column_name, ref_key }: CellAddress): string {
    return `${this.#url}/${row_key}/${column_name}/${ref_key}`;
  }
}

const newAddress = (): CellAddress => ({ row_key: randomUUID(), column_name: 'BASE', ref_key: 1 });

async function atOnce(work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

export function arePerfect({ writes, stored, reads, fresh }: FirstAnswers): boolean {
  return stored === writes && fresh === reads;
}

/** "200 of 200 stored, 198 of 200 fresh; 2 stale" */
export function firstLine({ writes, stored, reads, fresh, others, circuits, slowestMs }: FirstAnswers): string {
  const rest = Object.entries(others).map(([what, count]) => `${count} ${what}`);
  return [
    `${stored} of ${writes} stored, ${fresh} of ${reads} fresh`,
    ...rest,
    `${circuits} circuits opened, slowest ${(slowestMs / 1000).toFixed(2)} s`,
  ].join('; ');
}
