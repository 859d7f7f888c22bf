import GatewayKit

/// Where a ring is written to, and where it answers.
struct RingCharacteristics: Sendable {
    static let service = BluetoothUUID(0x6e40_fff0_b5a3_f393, 0xe0a9_e50e_24dc_ca9e)
    static let requests = BluetoothUUID(0x6e40_0002_b5a3_f393, 0xe0a9_e50e_24dc_ca9e)
    static let replies = BluetoothUUID(0x6e40_0003_b5a3_f393, 0xe0a9_e50e_24dc_ca9e)
    static let messageService = BluetoothUUID(0xde5b_f728_d711_4e47, 0xaf26_65e3_012a_5dc7)
    static let messageRequests = BluetoothUUID(0xde5b_f72a_d711_4e47, 0xaf26_65e3_012a_5dc7)
    static let messages = BluetoothUUID(0xde5b_f729_d711_4e47, 0xaf26_65e3_012a_5dc7)

    let requests: GATTCharacteristic
    let replies: GATTCharacteristic
    /// `nil` for a ring without the second service.
    let messageRequests: GATTCharacteristic?
    let messages: GATTCharacteristic?

    /// - Throws: a device without the service of these rings.
    init(_ link: any GATTLink) throws(DeviceError) {
        guard let requests = link.characteristic(Self.requests, in: Self.service),
            let replies = link.characteristic(Self.replies, in: Self.service), replies.properties.canSubscribe
        else {
            throw DeviceError(
                .failure, "The device is no ring with the protocol of Colmi: it has no service \(Self.service).")
        }
        (self.requests, self.replies) = (requests, replies)
        let messages = link.characteristic(Self.messages, in: Self.messageService)
        let messageRequests = link.characteristic(Self.messageRequests, in: Self.messageService)
        let hasBoth = messages?.properties.canSubscribe == true && messageRequests != nil
        (self.messages, self.messageRequests) = hasBoth ? (messages, messageRequests) : (nil, nil)
    }
}
