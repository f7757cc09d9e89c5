import { kindOf, type AlarmDefinition } from './alarm.ts';
import type { AlarmWorld } from './alarm-world.ts';
import { stateOf } from './evaluate.ts';
import type { MetricStore } from './metrics/metric-store.ts';

export type Fix = () => Promise<unknown>;

export interface AlarmCase {
  /** Sections of the runbook: alarms whose texts name them ring. */
  readonly sections: readonly string[];
  /** Whether each of them rings. @default one of each kind rings, for those of other triggers or groups */
  readonly each?: true;
  readonly fault: string;
  /** The action of the runbook, in one line. */
  readonly fix: string;
  /** Minutes within which they ring, on a machine that has other work to do. @default 10 */
  readonly withinMinutes?: number;
  breaks(world: AlarmWorld): Promise<Fix>;
}

export interface Rung {
  readonly alarm: AlarmDefinition;
  readonly of: AlarmCase;
  /** Seconds from the fault until it rang; undefined if it did not. */
  readonly rangAfter: number | undefined;
  /** Seconds from the fix until it was silent for good; undefined if it was not. */
  readonly silentAfter: number | undefined;
  readonly error: string | undefined;
}

export interface Bench {
  readonly world: AlarmWorld;
  readonly store: MetricStore;
  readonly say: (line: string) => void;
  readonly now?: () => number;
}

const MINUTE_MS = 60_000;
const WITHIN_MINUTES = 10;
/** The time in which alarms of an earlier fault fall silent, also after a fix. */
const SILENCE_MS = 15 * MINUTE_MS;
/** The values of a period are complete by then. */
const LATE_MS = 3000;

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Makes the alarms of a case ring by its fault, and silences them by its fix. Rejects only if the run is aborted. */
export async function ring(bench: Bench, of: AlarmCase): Promise<readonly Rung[]> {
  const { world, say } = bench;
  const alarms = world.alarms.filter(({ section }) => of.sections.includes(section));
  const watch = watchOf(bench, alarms);
  const title = of.sections.join(', ');
  let fix: Fix | undefined;
  let error: string | undefined;
  try {
    if (!(await watch.until(watch.areSilent, SILENCE_MS))) throw new Error('it rings without the fault');
    say(`${title}: ${of.fault}`);
    watch.begin();
    fix = await of.breaks(world);
    await watch.until(() => watch.haveRung(of.each), (of.withinMinutes ?? WITHIN_MINUTES) * MINUTE_MS);
  } catch (thrown) {
    world.signal.throwIfAborted();
    error = messageOf(thrown);
  }
  try {
    say(`${title}: ${error ?? `${watch.haveRung() ? 'rings' : 'DOES NOT RING'}; fix: ${of.fix}`}`);
    watch.fix();
    await fix?.();
    await watch.until(watch.areSilent, SILENCE_MS);
  } catch (thrown) {
    world.signal.throwIfAborted();
    error ??= messageOf(thrown);
  }
  say(`${title}: ${error ?? (watch.areSilent() ? 'silent' : 'IS NOT SILENT')}`);
  return alarms.map((alarm) => ({ alarm, of, ...watch.timesOf(alarm), error }));
}

function watchOf({ world, store, now = Date.now }: Bench, alarms: readonly AlarmDefinition[]) {
  const rangAt = new Map<AlarmDefinition, number>();
  const silentAt = new Map<AlarmDefinition, number>();
  let [brokenAt, curedAt] = [0, 0];

  function poll(): void {
    const at = now();
    for (const alarm of alarms) {
      const isSilent = stateOf(alarm, store, at - LATE_MS) === 'OK';
      if (!isSilent) silentAt.delete(alarm);
      const since = isSilent ? silentAt : rangAt;
      if (!since.has(alarm)) since.set(alarm, at);
    }
  }

  return {
    begin() {
      brokenAt = now();
      rangAt.clear();
    },
    fix() {
      curedAt = now();
      silentAt.clear();
    },
    /** Polls each second. Returns whether something became true in time. */
    async until(isSo: () => boolean, patienceMs: number): Promise<boolean> {
      for (const end = now() + patienceMs; ; await world.wait(1)) {
        poll();
        if (isSo()) return true;
        if (now() > end) return false;
      }
    },
    areSilent: () => alarms.every((alarm) => silentAt.has(alarm)),
    haveRung(each = false) {
      const rung = new Set(rangAt.keys().map(kindOf));
      return alarms.every((alarm) => (each ? rangAt.has(alarm) : rung.has(kindOf(alarm))));
    },
    timesOf(alarm: AlarmDefinition): Pick<Rung, 'rangAfter' | 'silentAfter'> {
      const seconds = (from: number, to: number | undefined): number | undefined =>
        to === undefined ? undefined : Math.round((to - from) / 1000);
      const rangAfter = seconds(brokenAt, rangAt.get(alarm));
      return {
        rangAfter,
        silentAfter: rangAfter === undefined ? undefined : seconds(curedAt, silentAt.get(alarm)),
      };
    },
  };
}
