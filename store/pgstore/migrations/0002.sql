-- {aliases}: the index of locations gets the aliases of records too, from the
-- program, since it alone can read the values.
select 1;
