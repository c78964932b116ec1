import { createdKinds, type EventType } from '../journal/index.ts'

/** Group and trigger of each event type, as in the interface document. */
export const eventTypeFacts: Record<EventType, { readonly group: string; readonly trigger: string }> = {
  'event.created': {
    group: 'Workflow',
    trigger: `any event created in the system; also what has no separate type: ${createdKinds.join(', ')}`,
  },
  'transport_unit.created': { group: 'Workflow', trigger: 'new transport unit registered' },
  'transport_unit.stage_changed': { group: 'Workflow', trigger: 'unit progressed to the next workflow stage' },
  'transport_unit.completed': { group: 'Workflow', trigger: 'unit completed all workflow stages' },
  'whms.placement': { group: 'Warehouse', trigger: 'asset placed in a slot' },
  'whms.removal': { group: 'Warehouse', trigger: 'asset removed from a slot' },
  'whms.verification': { group: 'Warehouse', trigger: 'placement verified by a supervisor' },
  'whms.dispute': { group: 'Warehouse', trigger: 'placement disputed by a supervisor' },
  'incident.created': { group: 'Compliance', trigger: 'new incident reported' },
  'incident.resolved': { group: 'Compliance', trigger: 'incident marked resolved' },
  'audit.report_generated': { group: 'Compliance', trigger: 'compliance report generated' },
  'motion.detected': { group: 'IoT', trigger: 'motion detected on a camera' },
  'scale.reading': { group: 'IoT', trigger: 'new scale reading recorded' },
  'webhook.test': { group: 'Test', trigger: 'sent by POST /api/webhooks/:id/test, whatever the subscription' },
}
