/// What was found where the store was opened.
package enum StoreOpening: Sendable, Hashable {
    /// There was nothing: the store is new.
    case new
    /// The store that was there is used.
    case existing
    /// What was there was damaged, and is now kept at this path: the store is new, with a new identity. What was in the
    /// old one and not delivered is lost, which the gateway tells as gaps with reason `store_reset`.
    case replacedCorrupt(path: String)
}
