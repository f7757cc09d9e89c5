export interface QuotaId {
  readonly service: string;
  readonly code: string;
}

export interface Zone {
  /** `us-east-1a`: differs between accounts. */
  readonly name: string;
  /** `use1-az3`: the same place in all accounts. */
  readonly id: string;
}

/** An available instance class of an engine's version. */
export interface Orderable {
  readonly zones: readonly string[];
  readonly dataApi: boolean;
}

/** An account's answers, each asked once. Throws `Unanswered` with the missing IAM action or obstacle. */
export interface AwsAnswers {
  readonly region: string;
  account(): Promise<string>;
  /** Undefined for a missing parameter. */
  parameter(name: string): Promise<string | undefined>;
  /** Concurrent Lambda instances: the account's, and unreserved ones. */
  concurrency(): Promise<{ readonly limit: number; readonly unreserved: number }>;
  quota(id: QuotaId): Promise<number>;
  /** By RDS's own names: `DBClusters`. */
  rdsQuotas(): Promise<ReadonlyMap<string, { readonly used: number; readonly most: number }>>;
  clusters(): Promise<readonly string[]>;
  proxies(): Promise<readonly string[]>;
  vpcs(): Promise<number>;
  gatewayEndpoints(): Promise<number>;
  /** Open to the account, without local zones. */
  zones(): Promise<readonly Zone[]>;
  zonesOfDefaultSubnets(): Promise<readonly string[]>;
  /** The version's ACU range; undefined if the region does not offer it. */
  engine(engine: string, version: string): Promise<{ readonly acu?: readonly [number, number] } | undefined>;
  orderable(engine: string, version: string, instanceClass: string): Promise<readonly Orderable[]>;
  /** By name or ARN; undefined for a missing stack. */
  stackStatus(name: string): Promise<string | undefined>;
  /** Logical ids, including changes under way. By name or ARN. */
  stackResources(name: string): Promise<readonly string[]>;
  logGroups(prefix: string): Promise<readonly string[]>;
  /** True if CloudFormation makes the type in the region. */
  offersType(type: string): Promise<boolean>;
}
