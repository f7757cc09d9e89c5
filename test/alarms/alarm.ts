import type { LoadedStack, ResourceAddress } from '../../infra/local/template/template.ts';
import { words } from '../support/words.ts';

export interface MetricStat {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: string;
}

export type Polled =
  | MetricStat
  | { readonly expression: string; readonly metrics: Readonly<Record<string, MetricStat>> };

export interface AlarmDefinition {
  /** The text, such as `write-cells fails`, without the link to the runbook. */
  readonly what: string;
  readonly section: string;
  readonly checks: Polled;
  readonly periodSeconds: number;
  readonly comparison: 'GreaterThanThreshold' | 'LessThanThreshold';
  readonly threshold: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  /** Whether a period without a value counts as a bad one. */
  readonly silenceIsBad: boolean;
}

const ALARM = 'AWS::CloudWatch::Alarm';
const TEXT = /^Schemaless: (?<what>.*)\. See \S+#(?<section>[a-z-]+)$/u;

type PropertyOf = (address: ResourceAddress, name: string) => unknown;

/** @throws Error for a property that is not known here: an alarm is never judged by a part of what its template says */
export function alarmsOf(stacks: readonly LoadedStack[], propertyOf: PropertyOf): readonly AlarmDefinition[] {
  return stacks.flatMap((stack) =>
    Object.entries(stack.template.Resources)
      .filter(([, { Type }]) => Type === ALARM)
      .map(([logicalId, resource]) => definitionOf({ stack, logicalId, resource }, propertyOf)),
  );
}

const KNOWN = new Set(
  words(`AlarmActions AlarmDescription ComparisonOperator DatapointsToAlarm Dimensions EvaluationPeriods
    ExtendedStatistic MetricName Metrics Namespace OKActions Period Statistic Threshold TreatMissingData`),
);

function definitionOf(address: ResourceAddress, propertyOf: PropertyOf): AlarmDefinition {
  const property = (name: string): unknown => propertyOf(address, name);
  const strange = Object.keys(address.resource.Properties ?? {}).filter((name) => !KNOWN.has(name));
  if (strange.length > 0) throw new Error(`${address.logicalId}: what does ${strange.join(', ')} mean?`);
  const { what, section } = TEXT.exec(String(property('AlarmDescription')))?.groups ?? {};
  if (what === undefined || section === undefined)
    throw new Error(`${address.logicalId}: wanted a text that names its section of the runbook`);
  const evaluationPeriods = Number(property('EvaluationPeriods'));
  return {
    what,
    section,
    ...polledOf(property),
    comparison: oneOf(property('ComparisonOperator'), ['GreaterThanThreshold', 'LessThanThreshold']),
    threshold: Number(property('Threshold')),
    evaluationPeriods,
    datapointsToAlarm: Number(property('DatapointsToAlarm') ?? evaluationPeriods),
    silenceIsBad: oneOf(property('TreatMissingData'), ['breaching', 'notBreaching']) === 'breaching',
  };
}

function polledOf(property: (name: string) => unknown): Pick<AlarmDefinition, 'checks' | 'periodSeconds'> {
  const queries = property('Metrics');
  if (!Array.isArray(queries)) {
    const metric = {
      Namespace: property('Namespace'),
      MetricName: property('MetricName'),
      Dimensions: property('Dimensions'),
    };
    const statistic = property('Statistic') ?? property('ExtendedStatistic');
    return { checks: metricOf(metric, statistic), periodSeconds: Number(property('Period')) };
  }
  const expression = queries.map(({ Expression }) => Expression as unknown).find((text) => typeof text === 'string');
  const stats = queries.filter(({ MetricStat }) => MetricStat !== undefined);
  const [periodSeconds, ...others] = new Set(stats.map(({ MetricStat }) => Number(MetricStat.Period)));
  if (expression === undefined || periodSeconds === undefined || others.length > 0)
    throw new Error('wanted one expression over metrics of one period');
  const metrics = Object.fromEntries(
    stats.map(({ Id, MetricStat: { Metric, Stat } }) => [String(Id), metricOf(Metric, Stat)]),
  );
  return { checks: { expression, metrics }, periodSeconds };
}

function metricOf(metric: object, statistic: unknown): MetricStat {
  const { Namespace, MetricName, Dimensions } = Object(metric);
  return {
    namespace: String(Namespace),
    name: String(MetricName),
    dimensions: dimensionsOf(Dimensions),
    statistic: String(statistic),
  };
}

function dimensionsOf(list: unknown): Readonly<Record<string, string>> {
  if (list === undefined) return {};
  if (!Array.isArray(list)) throw new Error(`Dimensions: wanted a list, got ${JSON.stringify(list)}`);
  return Object.fromEntries(list.map(({ Name, Value }) => [String(Name), String(Value)]));
}

function oneOf<Word extends string>(value: unknown, words: readonly Word[]): Word {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new Error(`wanted one of ${words.join(', ')}, got ${JSON.stringify(value)}`);
  return found;
}

export function metricsOf(checks: Polled): readonly MetricStat[] {
  return 'expression' in checks ? Object.values(checks.metrics) : [checks];
}

/**
 * Returns equal texts for alarms that differ only in the subject of their metric (another queue, function or group),
 * and in a bound that depends on its size.
 */
export function kindOf({ what: _what, checks, threshold: _threshold, ...rest }: AlarmDefinition): string {
  const nameless = metricsOf(checks).map(({ dimensions, ...metric }) => [metric, Object.keys(dimensions).sort()]);
  return JSON.stringify([rest, nameless, 'expression' in checks ? checks.expression : '']);
}
