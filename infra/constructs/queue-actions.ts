export const LOOK_AT_QUEUE = ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl'];

export const SEND_TO_QUEUE = ['sqs:SendMessage', ...LOOK_AT_QUEUE];

export const TAKE_FROM_QUEUE = ['sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility', 'sqs:DeleteMessage'];

export const MAKE_QUEUE = ['sqs:CreateQueue', 'sqs:SetQueueAttributes', 'sqs:DeleteQueue', ...LOOK_AT_QUEUE];

export const QUEUE_ACTIONS = [...new Set([...SEND_TO_QUEUE, ...TAKE_FROM_QUEUE, ...MAKE_QUEUE])];
