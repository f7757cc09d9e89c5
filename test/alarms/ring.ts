import { kindOf, type AlarmDefinition } from './alarm.ts';
import type { AlarmCase, Cure } from './alarm-case.ts';
import type { AlarmWorld } from './alarm-world.ts';
import { stateOf } from './evaluate.ts';
import type { MetricStore } from './metrics/metric-store.ts';

/** What came of one alarm under one fault. */
export interface Rung {
  readonly alarm: AlarmDefinition;
  readonly of: AlarmCase;
  /** Seconds from the fault until it rang; undefined where it did not. */
  readonly rangAfter: number | undefined;
  /** Seconds from the cure until it was silent for good; undefined where it was not. */
  readonly silentAfter: number | undefined;
  /** What went wrong with fault or cure, if anything did. */
  readonly error: string | undefined;
}

export interface Bench {
  readonly world: AlarmWorld;
  readonly store: MetricStore;
  readonly say: (line: string) => void;
}

const MINUTE_MS = 60_000;
const WITHIN_MINUTES = 10;
/** What came before has to be over, and what was cured to fall silent. */
const SILENCE_MS = 15 * MINUTE_MS;
/** Figures of a period are here by then. */
const LATE_MS = 3000;

/** Has the alarms of a case ring by its fault, and fall silent by its cure. Never rejects, but when all is to end. */
export async function ring(bench: Bench, of: AlarmCase): Promise<readonly Rung[]> {
  const { world, say } = bench;
  const alarms = world.alarms.filter(({ section }) => of.sections.includes(section));
  const watch = new Watch(bench, alarms);
  const title = of.sections.join(', ');
  let cure: Cure | undefined;
  let error: string | undefined;
  try {
    if (!(await watch.until(() => watch.areSilent(), SILENCE_MS))) throw new Error('it rings without the fault');
    say(`${title}: ${of.fault}`);
    watch.begin();
    cure = await of.breaks(world);
    const isEnough = (): boolean => (of.each ? watch.haveAllRung() : watch.hasEachKindRung());
    await watch.until(isEnough, (of.withinMinutes ?? WITHIN_MINUTES) * MINUTE_MS);
  } catch (thrown) {
    world.signal.throwIfAborted();
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  try {
    say(`${title}: ${error ?? `${watch.hasEachKindRung() ? 'rings' : 'DOES NOT RING'}; cure: ${of.cure}`}`);
    watch.cure();
    await cure?.();
    await watch.until(() => watch.areSilent(), SILENCE_MS);
  } catch (thrown) {
    world.signal.throwIfAborted();
    error ??= thrown instanceof Error ? thrown.message : String(thrown);
  }
  const rung = alarms.map((alarm): Rung => ({ alarm, of, ...watch.timesOf(alarm), error }));
  say(`${title}: ${error ?? (watch.areSilent() ? 'silent' : 'IS NOT SILENT')}`);
  return rung;
}

/** When alarms rang and fell silent. */
class Watch {
  readonly #bench: Bench;
  readonly #alarms: readonly AlarmDefinition[];
  readonly #rangAt = new Map<AlarmDefinition, number>();
  readonly #silentAt = new Map<AlarmDefinition, number>();
  #brokenAt = 0;
  #curedAt = 0;

  constructor(bench: Bench, alarms: readonly AlarmDefinition[]) {
    this.#bench = bench;
    this.#alarms = alarms;
  }

  begin(): void {
    this.#brokenAt = Date.now();
    this.#rangAt.clear();
  }

  cure(): void {
    this.#curedAt = Date.now();
    this.#silentAt.clear();
  }

  /** Looks each second until something is so. Returns whether it came to that in time. */
  async until(isSo: () => boolean, patienceMs: number): Promise<boolean> {
    for (const end = Date.now() + patienceMs; ; await this.#bench.world.wait(1)) {
      this.#look();
      if (isSo()) return true;
      if (Date.now() > end) return false;
    }
  }

  areSilent(): boolean {
    return this.#alarms.every((alarm) => this.#silentAt.has(alarm));
  }

  haveAllRung(): boolean {
    return this.#rangAt.size === this.#alarms.length;
  }

  hasEachKindRung(): boolean {
    const rung = new Set(this.#rangAt.keys().map(kindOf));
    return this.#alarms.every((alarm) => rung.has(kindOf(alarm)));
  }

  timesOf(alarm: AlarmDefinition): Pick<Rung, 'rangAfter' | 'silentAfter'> {
    const seconds = (from: number, to: number | undefined): number | undefined =>
      to === undefined ? undefined : Math.round((to - from) / 1000);
    const rangAfter = seconds(this.#brokenAt, this.#rangAt.get(alarm));
    return {
      rangAfter,
      silentAfter: rangAfter === undefined ? undefined : seconds(this.#curedAt, this.#silentAt.get(alarm)),
    };
  }

  #look(): void {
    const now = Date.now();
    for (const alarm of this.#alarms) {
      if (stateOf(alarm, this.#bench.store, now - LATE_MS) === 'OK') {
        if (!this.#silentAt.has(alarm)) this.#silentAt.set(alarm, now);
      } else {
        this.#silentAt.delete(alarm);
        if (!this.#rangAt.has(alarm)) this.#rangAt.set(alarm, now);
      }
    }
  }
}
