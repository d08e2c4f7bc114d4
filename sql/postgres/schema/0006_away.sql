-- A relay says in its row whom it cannot hand on to what it should: a broker that is away, or its task site.

alter table owed_relay add column away text not null default '';
