import type { Attributes } from '@opentelemetry/api';
import type { Turn } from '@strandline/pipeline';

/** What a span says of its turn: the conventions for messaging, and what has no name there below `strandline.`. */
export function attributesOf({ pipeline, replay, kind, event, batch }: Turn): Attributes {
  return {
    'messaging.system': 'strandline',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': event.table,
    'messaging.consumer.group.name': pipeline,
    // A batch has no one message, and one message is no batch.
    ...(batch === null
      ? { 'messaging.message.id': event.id }
      : { 'messaging.batch.message_count': batch.length }),
    'strandline.position': event.position,
    'strandline.turn.kind': kind,
    ...(replay === null ? {} : { 'strandline.replay': replay }),
    ...(event.type === null ? {} : { 'strandline.event.type': event.type }),
  };
}

export function spanNameOf({ event }: Turn): string {
  return `process ${event.table}`;
}
