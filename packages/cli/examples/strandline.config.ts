import { definePipeline, env, postgres, redisOffsets } from 'strandline';

export default definePipeline({
  name: 'order-mails',
  source: postgres({
    url: env('DATABASE_URL', 'postgres://localhost/shop'),
    outbox: { table: 'outbox', id: 'id', key: 'order_id', type: 'type', payload: 'payload' },
  }),
  offsets: redisOffsets({ url: env('REDIS_URL', 'redis://localhost') }),

  handle(event, ctx) {
    ctx.log.info({ id: event.id, type: event.type }, 'here a mail would be sent');
  },
});
