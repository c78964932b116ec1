/** The pages of daily work on the floor. After an update they change when `updates.floorLayout` says so; the others at once. */
const floorPages = new Set([
  ...['', 'find', 'todo', 'verify', 'units', 'counts', 'labels', 'wall', 'sign-in', 'pair'],
  ...['scan', 'training', 'scan-worker.js'],
])

/** Whether an address, such as `/units/7`, is a page of the floor. */
export const isFloorPage = (path: string): boolean => floorPages.has(path.split('/')[1] ?? '')
