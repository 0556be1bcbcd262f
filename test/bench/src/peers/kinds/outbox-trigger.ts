/** SQL that has a statement run for each new row of the outbox, in the transaction of the row. */
export function onEachRow(name: string, statement: string): string {
  return `
    create function ${name}() returns trigger language plpgsql as $$
    begin
      ${statement};
      return null;
    end $$;
    create trigger ${name} after insert on outbox for each row execute function ${name}()`;
}

export function withoutTrigger(name: string): string {
  return `drop function if exists ${name}() cascade`;
}

/** A row as `PeerRow` has it, in SQL. */
export function rowJson(row: string): string {
  return `json_build_object('id', ${row}.id::text, 'key', ${row}.key::text, 'payload', coalesce(${row}.payload, ''))`;
}
