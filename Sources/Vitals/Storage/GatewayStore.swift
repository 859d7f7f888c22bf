/// The complete store, of which the gateway's parts get one protocol each.
///
/// Each method is one transaction, on disk when it returns. Writes of several callers share a commit (group commit).
/// The real store is SQLite; tests put a `FaultyStore` in front of it.
package typealias GatewayStore = CommandStore & DeviceStore & MaintenanceStore & OutboxStore
