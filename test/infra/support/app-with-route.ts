import type { App } from 'aws-cdk-lib';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { buildApp as buildDeployedApp } from '../../../infra/app.ts';

/** The deployed app with a route and a queue more, which are named nowhere else. */
export function buildApp(app: App): void {
  const { service } = buildDeployedApp(app);
  const readCells = service.node.findChild('read-cells');
  if (!(readCells instanceof LambdaFunction)) throw new Error('wanted a function read-cells');
  service.api.api.addRoutes({
    path: '/added/{thing}',
    methods: [HttpMethod.GET],
    integration: new HttpLambdaIntegration('added', readCells),
  });

  const failures = new Queue(service, 'failures', { fifo: true });
  const queue = new Queue(service, 'events', { fifo: true, deadLetterQueue: { queue: failures, maxReceiveCount: 3 } });
  readCells.addEnvironment('QUEUE_URL', queue.queueUrl);
  readCells.addEnvironment('QUEUE_ARN', queue.queueArn);
}
