import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { FIVE_MINUTES, type Alarms } from './alarms.ts';

export function addFunctionAlarms(alarms: Alarms, name: string, called: IFunction): void {
  alarms.add(`${name}-errors`, {
    section: 'function-errors',
    what: `${name} fails`,
    metric: called.metricErrors({ statistic: Stats.SUM, period: FIVE_MINUTES }),
    above: 0,
    periods: 2,
  });
  alarms.add(`${name}-throttles`, {
    section: 'function-throttles',
    what: `${name} is called more often than it may run`,
    metric: called.metricThrottles({ statistic: Stats.SUM, period: FIVE_MINUTES }),
    above: 0,
    periods: 2,
  });
}

export function addLoopAlarm(alarms: Alarms, name: string, loop: IFunction): void {
  alarms.add(`${name}-stopped`, {
    section: 'loop-stopped',
    what: `${name} is not started any more`,
    metric: loop.metricInvocations({ statistic: Stats.SUM, period: FIVE_MINUTES }),
    below: 1,
    periods: 2,
    silenceIsBad: true,
  });
}
