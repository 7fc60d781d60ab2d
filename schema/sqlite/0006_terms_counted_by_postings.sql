-- How many turns hold a term is how many postings it has: a counter beside them cost a page written for every word of
-- every turn.
DROP TABLE term;
