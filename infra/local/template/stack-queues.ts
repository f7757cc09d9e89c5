import type { RunningTemplate } from './run-template.ts';

export interface StackQueue {
  readonly name: string;
  readonly url: string;
  readonly calls: string | undefined;
  readonly callsNow: number;
}

export function stackQueues({
  queueUrls,
  eventSources,
  functions,
}: Pick<RunningTemplate, 'queueUrls' | 'eventSources' | 'functions'>): readonly StackQueue[] {
  const sources = eventSources.status();
  return queueUrls.map((url) => {
    const source = sources.find(({ queueUrl }) => queueUrl === url);
    return {
      name: url.slice(url.lastIndexOf('/') + 1),
      url,
      calls: functions.status().find(({ arn }) => arn === source?.functionArn)?.title,
      callsNow: source?.calls ?? 0,
    };
  });
}
