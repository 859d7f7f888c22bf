/// Whether a device is worn and charging, as last reported.
package struct WearState: Sendable, Hashable {
    /// `nil` if not reported since the connection.
    package var isWorn: Bool?
    /// `nil` if not reported since the connection.
    package var isCharging: Bool?
    /// When this changed.
    package var at: Timestamp

    package init(isWorn: Bool? = nil, isCharging: Bool? = nil, at: Timestamp) {
        self.isWorn = isWorn
        self.isCharging = isCharging
        self.at = at
    }
}
