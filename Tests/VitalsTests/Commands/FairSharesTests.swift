import Testing
import Vitals

@Suite struct FairSharesTests {
    /// Gives owners as much as fits, one unit after the other in turns.
    private func filled(_ owners: [String], in room: Int) -> (shares: FairShares, counts: [Int]) {
        var shares = FairShares()
        var counts = [Int](repeating: 0, count: owners.count)
        var isFull = false
        while !isFull {
            isFull = true
            for (index, owner) in owners.enumerated() where shares.fits(1, of: owner, in: room) {
                shares.add(1, of: owner)
                counts[index] += 1
                isFull = false
            }
        }
        return (shares, counts)
    }

    @Test(arguments: 1...9)
    func `owners get equal shares, and leave as much to one who has nothing`(count: Int) {
        let room = 1_000
        let (shares, counts) = filled((0..<count).map { "\($0)" }, in: room)
        for own in counts { #expect(abs(own - room / (count + 1)) <= 1) }
        #expect(shares.fits(room - shares.used, of: "other", in: room))
        #expect(!shares.fits(room - shares.used + 1, of: "other", in: room))
        #expect(shares.fits(room - shares.used, of: nil, in: room))
    }

    @Test func `every owner finds a place as long as there is any`() {
        var shares = FairShares()
        for number in 0..<100 {
            #expect(shares.fits(1, of: "\(number)", in: 100))
            shares.add(1, of: "\(number)")
        }
        #expect(!shares.fits(1, of: "more", in: 100))
        #expect(!shares.fits(1, of: nil, in: 100))
        shares.remove(1, of: "7")
        #expect(shares.used == 99)
        #expect(!shares.fits(1, of: "8", in: 100))
        #expect(shares.fits(1, of: "7", in: 100))
    }
}
