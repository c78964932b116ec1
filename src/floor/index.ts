export { AssetList } from './asset-list.ts'
export { assetRoutes } from './asset-routes.ts'
export { floorRoutes } from './routes.ts'
export { FloorService } from './service.ts'
