import GatewayKit
import Vitals

/// Reads and sets a device's clock, by the Current Time Service, or by the Date Time that some cuffs and meters have.
struct DeviceClockAccess: Sendable {
    let link: any GATTLink
    let device: HealthDevice
    let calendar: LocalCalendar

    /// What the clock shows; `nil` if it cannot be read, or was never set.
    func read() async throws(GATTError) -> DeviceClock? {
        let offset = await offset()
        if let time = device.currentTime, time.properties.contains(.read) {
            return clock((try? CurrentTime(try await link.read(time)))?.dateTime, offset)
        }
        guard let time = device.dateTime, time.properties.contains(.read) else { return nil }
        var reader = FieldReader(try await link.read(time))
        return clock(try? reader.dateTime(), offset)
    }

    /// Sets the clock to local time.
    func set(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        let target: GATTCharacteristic
        let bytes: [UInt8]
        if let time = device.currentTime, time.properties.contains(.write) {
            (target, bytes) = (time, CurrentTime(now, offset: utcOffset).bytes)
        } else if let time = device.dateTime, time.properties.contains(.write) {
            (target, bytes) = (time, DateTime(now, offset: utcOffset).bytes)
        } else {
            throw .unsupported("setting the clock")
        }
        do {
            try await link.write(bytes, to: target, .withResponse)
            if let zone = device.localTime, zone.properties.contains(.write),
                let bytes = LocalTimeInformation(offset: utcOffset).bytes
            {
                try await link.write(bytes, to: zone, .withResponse)
            }
        } catch .refused(let refusal) where refusal == Self.partlyIgnored {
        } catch {
            throw DeviceError(error, "The clock")
        }
    }

    /// The device has set its clock, but for a field that it does not have, such as fractions of a second (Current Time Service, 1.4).
    private static let partlyIgnored = ATTError(code: 0x80)

    private func offset() async -> Int? {
        guard let zone = device.localTime, zone.properties.contains(.read),
            let bytes = try? await link.read(zone)
        else { return nil }
        return (try? LocalTimeInformation(bytes))?.offset
    }

    private func clock(_ time: DateTime?, _ offset: Int?) -> DeviceClock? {
        let now = offset.flatMap { time?.moment(offset: $0) } ?? time?.moment(in: calendar)
        return now.map { DeviceClock(now: $0, utcOffset: offset) }
    }
}
