/**
 * Resource types that need nothing to be done on one machine, with the reason. Every other type that is not run is an
 * error at start: nothing of the CDK app may be missing here silently.
 */
export const WITHOUT_LOCAL_MEANING: Readonly<Record<string, string>> = {
  'AWS::CDK::Metadata': 'says which constructs were used',
  'AWS::ApiGatewayV2::Stage': 'the gateway has one stage, at its root',
  'AWS::CloudWatch::Alarm': 'nobody is called from one machine; `npm run local -- status` shows what alarms look at',
  'AWS::CloudWatch::Dashboard': '`npm run local -- status` shows what is going on',
  'AWS::EC2::FlowLog': 'everything is on the loopback interface',
  'AWS::EC2::InternetGateway': 'everything is on the loopback interface',
  'AWS::EC2::Route': 'everything is on the loopback interface',
  'AWS::EC2::RouteTable': 'everything is on the loopback interface',
  'AWS::EC2::SecurityGroup': 'everything is on the loopback interface',
  'AWS::EC2::SecurityGroupEgress': 'everything is on the loopback interface',
  'AWS::EC2::SecurityGroupIngress': 'everything is on the loopback interface',
  'AWS::EC2::Subnet': 'everything is on the loopback interface',
  'AWS::EC2::SubnetRouteTableAssociation': 'everything is on the loopback interface',
  'AWS::EC2::VPC': 'everything is on the loopback interface',
  'AWS::EC2::VPCEndpoint': 'everything is on the loopback interface',
  'AWS::EC2::VPCGatewayAttachment': 'everything is on the loopback interface',
  'AWS::Lambda::EventInvokeConfig': 'failed asynchronous calls are never repeated here',
  'AWS::Lambda::Permission': 'functions are called by the stack itself',
  'AWS::Logs::LogGroup': 'functions write into one file',
  'AWS::RDS::DBClusterParameterGroup': 'the local servers are started with the settings that the store needs',
  'AWS::RDS::DBParameterGroup': 'the local servers are started with the settings that the store needs',
  'AWS::RDS::DBProxy': 'functions connect to the local servers themselves',
  'AWS::RDS::DBProxyEndpoint': 'functions connect to the local servers themselves',
  'AWS::RDS::DBProxyTargetGroup': 'functions connect to the local servers themselves',
  'AWS::RDS::DBSubnetGroup': 'everything is on the loopback interface',
  'AWS::RDS::EventSubscription': 'nobody is called from one machine',
  'AWS::SNS::Subscription': 'nobody is called from one machine',
  'AWS::SNS::Topic': 'nobody is called from one machine',
  'AWS::SNS::TopicPolicy': 'nobody is called from one machine',
  'AWS::SQS::QueuePolicy': 'it refuses what is not encrypted, and everything is on the loopback interface',
  'AWS::StepFunctions::StateMachine':
    'the waiter of the provider framework: handlers of custom resources are called directly',
  'Custom::VpcRestrictDefaultSG': 'everything is on the loopback interface',
};
