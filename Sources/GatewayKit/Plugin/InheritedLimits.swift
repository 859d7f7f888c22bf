import Synchronization

/// The limits that the gateway's process had when it started, for the programs that it starts.
package enum InheritedLimits {
    private static let softDescriptors = Mutex<Int?>(nil)

    /// The soft limit of descriptors before the gateway raised its own; `nil` if it did not. A program that uses `select`
    /// fails with descriptors from 1,024 on, which is why the usual soft limit is no higher.
    package static var descriptors: Int? {
        get { softDescriptors.withLock { $0 } }
        set { softDescriptors.withLock { $0 = newValue } }
    }
}
