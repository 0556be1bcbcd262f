/**
 * What columns of outboxes are called, without separators and in lower case, and how surely the name means that: 100 is
 * for what can't mean anything else. Collected from the layouts in use: Debezium, MassTransit, NServiceBus, Wolverine,
 * Spring Modulith, Axon, and what people write with Rails, Laravel, Django, Ecto and Prisma.
 */
type Names = Readonly<Record<string, number>>;

/** What an event is told by, where the primary key does not say it. */
export const ID: Names = {
  ...{ id: 75, uuid: 60, eventid: 75, messageid: 75, outboxid: 60, eventuuid: 75, messageuuid: 75 },
  ...{ eventidentifier: 75, identifier: 60, uid: 55, guid: 60 },
};

/** What events must stay in order by. */
export const KEY: Names = {
  ...{ aggregateid: 95, aggregateuuid: 95, aggregateidentifier: 95, aggregaterootid: 95, aggregatekey: 95 },
  ...{ key: 90, partitionkey: 95, messagekey: 90, eventkey: 90, orderingkey: 95, messagegroupid: 90 },
  ...{ streamid: 90, streamkey: 90, entityid: 90, entityuuid: 90, entitykey: 90, subjectid: 80 },
  ...{ resourceid: 80, recordid: 75, objectid: 75, modelid: 75, groupid: 75, groupkey: 75, shardkey: 75 },
  ...{ aggregate: 60, stream: 60, streamname: 75, correlationid: 45, conversationid: 40, sagaid: 60 },
};

/** A key's name that stands beside what kind of thing it names. */
export const KEY_TYPE: readonly string[] = [
  ...['aggregatetype', 'aggregateroottype', 'entitytype', 'streamtype', 'subjecttype', 'resourcetype'],
  ...['recordtype', 'objecttype', 'modeltype', 'aggregatename', 'entityname', 'topic', 'category'],
];

/** Whose row it is, where several customers share a table. */
export const TENANT: readonly string[] = [
  ...['tenant', 'tenantid', 'tenantuuid', 'tenantkey', 'organizationid', 'organisationid', 'orgid'],
  ...['companyid', 'workspaceid'],
];

/** Ends in `id`, and still names no business object whose events need an order. */
export const NO_KEY: readonly string[] = [
  ...['createdby', 'causationid', 'requestid', 'traceid', 'spanid', 'ownerid', 'lockid', 'jobid', 'batchid'],
  ...['inboxmessageid', 'inboxconsumerid', 'outboxid', 'messageid', 'eventid', 'initiatorid', 'listenerid'],
  ...['consumerid', 'workerid', 'transactionid', 'externalid', 'contenttypeid', 'sourceid', 'nodeid'],
  ...['correlationid', 'conversationid', 'sessionid', 'uuid', 'uid', 'guid', 'valid', 'paid', 'grid', 'bid'],
  ...['sequencenumber', 'versionnumber', 'rownumber', 'phonenumber', 'linenumber', 'idempotencykey'],
];

export const TYPE: Names = {
  ...{ eventtype: 95, messagetype: 95, type: 85, eventname: 90, messagename: 90, eventclass: 85, kind: 80 },
  ...{ payloadtype: 80, eventkind: 85, action: 60, operation: 55, class: 60, classname: 65, name: 55 },
  ...{ event: 65, topic: 70, routingkey: 60, destination: 55, subject: 55, alias: 50, schema: 40 },
};

export const PAYLOAD: Names = {
  ...{ payload: 95, eventpayload: 95, messagepayload: 95, data: 85, eventdata: 90, messagedata: 90 },
  ...{ body: 90, messagebody: 95, eventbody: 95, message: 80, content: 80, serializedevent: 90, value: 80 },
  ...{ json: 75, payloadjson: 95, jsonpayload: 95, datajson: 90, event: 75, msg: 75, operations: 60 },
  ...{ attributes: 55, arguments: 55, args: 55, document: 60 },
};

export const HEADERS: Names = {
  ...{ headers: 95, messageheaders: 95, eventheaders: 95, header: 85, metadata: 85, eventmetadata: 85 },
  ...{ meta: 80, messagemetadata: 85, properties: 60, props: 60 },
};

/** Columns of a table that is worked off as a queue. Strandline reads the log, and needs none of them. */
export const QUEUE: ReadonlySet<string> = new Set([
  ...['processed', 'processedat', 'processedon', 'processedtime', 'processeddate', 'isprocessed'],
  ...['published', 'publishedat', 'publishedon', 'ispublished', 'sent', 'sentat', 'senttime', 'issent'],
  ...['dispatched', 'dispatchedat', 'delivered', 'deliveredat', 'handled', 'handledat', 'relayedat'],
  ...['completed', 'completedat', 'completiondate', 'completionattempts', 'lastresubmissiondate'],
  ...['status', 'state', 'locked', 'lockedat', 'lockedby', 'lockeduntil', 'lockid', 'lockexpiresat'],
  ...['lock', 'leaseduntil', 'claimedat', 'claimedby', 'reservedat', 'availableat', 'scheduledat'],
  ...['attempts', 'attempt', 'attemptcount', 'retries', 'retry', 'retrycount', 'maxattempts', 'tries'],
  ...['nextattemptat', 'nextretryat', 'lastattemptat', 'failedat', 'error', 'lasterror', 'errormessage'],
  ...['failurereason', 'expiresat', 'deliverby', 'expirationtime', 'ownerid', 'doneat', 'done'],
]);
