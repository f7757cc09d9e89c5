import { CapacityProvider, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { FEWEST_ENVIRONMENTS } from './connection-budget.ts';
import { acknowledge } from './evidence.ts';
import type { SchemalessStorage } from './storage.ts';
import { MACHINE } from './worker.ts';

/** The smallest environment, with one vCPU: one thread of Node, and so one pool of connections. */
export const MANAGED_MEMORY_MB = 2048;

/**
 * Lambda Managed Instances: EC2 instances in the store's subnets, whose functions answer many requests at once.
 * Containers separate the functions of an instance, not virtual machines.
 *
 * - AWS reserves no concurrency for them; the most environments bound the connections. CloudFormation sets that bound
 *   for the version that an unqualified call reaches, and for no numbered one: hence no canary.
 * - A function cannot leave a provider. In this scope it is another function than the one on demand, so a deployment
 *   can change between both.
 */
export class ManagedInstances extends Construct {
  private readonly provider: CapacityProvider;
  private readonly requestsAtOnce: number;

  constructor(scope: Construct, id: string, { network }: SchemalessStorage, requestsAtOnce: number) {
    super(scope, id);
    this.requestsAtOnce = requestsAtOnce;
    this.provider = new CapacityProvider(this, 'provider', {
      architectures: [MACHINE.architecture],
      subnets: network.vpc.selectSubnets(network.subnets).subnets,
      securityGroups: [network.clients],
    });
    acknowledge(
      this.provider,
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AWSLambdaManagedEC2ResourceOperator]',
      'Lambda needs it to launch its instances, and AWS keeps it up to date',
    );
  }

  /** Runs a function in at most so many environments. */
  run(fn: LambdaFunction, most: number): void {
    this.provider.addFunction(fn, {
      perExecutionEnvironmentMaxConcurrency: this.requestsAtOnce,
      executionEnvironmentMemoryGiBPerVCpu: MANAGED_MEMORY_MB / 1024,
      publishToLatestPublished: true,
      latestPublishedScalingConfig: {
        minExecutionEnvironments: Math.min(FEWEST_ENVIRONMENTS, most),
        maxExecutionEnvironments: most,
      },
    });
  }
}
