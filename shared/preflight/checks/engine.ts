import type { Check, ChecksOf } from '../check.ts';
import { resourcesOf, textsOf, type Needs } from '../needs.ts';

const CLUSTER = 'AWS::RDS::DBCluster';
/** Aurora spreads a cluster's nodes over zones. */
const FEWEST_ZONES = 2;

/** Checks the pinned version, its instances, and the access. */
export const engineChecks: ChecksOf = (needs) => {
  const [engine, version] = [textsOf(needs, CLUSTER, 'Engine')[0], textsOf(needs, CLUSTER, 'EngineVersion')[0]];
  if (engine === undefined || version === undefined) return [];
  return [
    engineCheck(needs, engine, version),
    ...textsOf(needs, 'AWS::RDS::DBInstance', 'DBInstanceClass').map((instanceClass) =>
      orderCheck(needs, [engine, version, instanceClass]),
    ),
  ];
};

function engineCheck(needs: Needs, engine: string, version: string): Check {
  const scaling = resourcesOf(needs, CLUSTER).map(({ properties }) =>
    Object(properties['ServerlessV2ScalingConfiguration']),
  );
  const least = Math.min(...scaling.map(({ MinCapacity }) => Number(MinCapacity ?? Infinity)));
  const most = Math.max(...scaling.map(({ MaxCapacity }) => Number(MaxCapacity ?? 0)));
  return {
    name: 'engine version',
    wanted: `${engine} ${version}, ${least} to ${most} ACU`,
    async judge(aws) {
      const offered = await aws.engine(engine, version);
      if (!offered)
        return {
          verdict: 'FAIL',
          found: 'not offered',
          todo: 'Take another region, or another version in infra/constructs',
        };
      if (!offered.acu) return { verdict: 'unknown', found: 'offered; without a range of ACU' };
      const [from, to] = offered.acu;
      const found = `offered, ${from} to ${to} ACU`;
      if (from <= least && most <= to) return { verdict: 'ok', found };
      return { verdict: 'FAIL', found, todo: 'Set `capacity` in infra/environments.ts to what is offered' };
    },
  };
}

function orderCheck(needs: Needs, [engine, version, instanceClass]: readonly [string, string, string]): Check {
  const isDataApi = resourcesOf(needs, CLUSTER).some(({ properties }) => properties['EnableHttpEndpoint'] === true);
  return {
    name: `instances ${instanceClass}`,
    wanted: `in ${FEWEST_ZONES} zones or more${isDataApi ? ', RDS Data API' : ''}`,
    async judge(aws) {
      const options = await aws.orderable(engine, version, instanceClass);
      const zones = [...new Set(options.flatMap((option) => option.zones))].toSorted();
      const hasDataApi = options.some(({ dataApi }) => dataApi);
      const found = `${zones.length > 0 ? `in ${zones.join(', ')}` : 'none'}${isDataApi ? `, ${hasDataApi ? '' : 'no '}RDS Data API` : ''}`;
      if (zones.length >= FEWEST_ZONES && (hasDataApi || !isDataApi)) return { verdict: 'ok', found };
      return { verdict: 'FAIL', found, todo: 'Take another region' };
    },
  };
}
