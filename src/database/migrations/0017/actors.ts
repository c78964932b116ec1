/** Events are found by the person who acted, too. Most events have one person, and then a commit writes no page more. */
export const actorsStatements = [
  `CREATE INDEX placement_event_actor ON placement_event (actor_commitment, timestamp_ms, id)
  WHERE leaf_version = 1 AND actor_commitment <> operator_commitment`,
  `CREATE INDEX placement_person_actor ON placement_person (actor_id, timestamp_ms, event_id, operator_id)
  WHERE actor_id IS NOT operator_id`,
]
