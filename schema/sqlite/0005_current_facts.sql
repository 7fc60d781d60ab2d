-- A key with ten thousand stable facts and no speculative one must not be walked to find that out: belief is revised
-- one stratum at a time.
CREATE INDEX fact_current ON fact (namespace, head, relation, stratum, valid_from) WHERE recorded_to IS NULL;
